import type { ReactNode } from 'react';
import { useDocumentTitle } from '@mantine/hooks';
import classes from './layout.module.css';

interface PageProps {
  readonly title: string;
  /** Shown beside the title, such as a state badge. */
  readonly beside?: ReactNode;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of every page: one heading, what it is for, and what can be done here. */
export function Page({ title, beside, lead, actions, children }: PageProps): ReactNode {
  useDocumentTitle(`${title} · Quotaplane`);
  return (
    <div className={classes.page}>
      <header className={classes.header}>
        <div className={classes.heading}>
          <h1 className={classes.title}>
            {title}
            {beside}
          </h1>
          {lead === undefined ? null : <div className={classes.lead}>{lead}</div>}
        </div>
        {actions === undefined ? null : <div className={classes.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface PanelProps {
  readonly title: string;
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
  /** Leaves the padding to the content, as a table wants it. */
  readonly isFlush?: boolean;
  readonly children: ReactNode;
}

/** One subject of a page, named by its heading. */
export function Panel({ title, note, actions, isFlush = false, children }: PanelProps): ReactNode {
  return (
    <section className={classes.panel} aria-label={title}>
      <div className={classes.panelHead}>
        <h2 className={classes.panelTitle}>{title}</h2>
        {note === undefined ? null : <span className={classes.panelNote}>{note}</span>}
        <span className={classes.spring} />
        {actions}
      </div>
      {isFlush ? children : <div className={classes.panelBody}>{children}</div>}
    </section>
  );
}

export function Facts({ items }: { readonly items: readonly (readonly [string, ReactNode])[] }): ReactNode {
  return (
    <dl className={classes.facts}>
      {items.map(([name, value]) => (
        <div key={name} className={classes.fact}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
