import type { ReactNode } from 'react';
import { IconZoomQuestion } from '@tabler/icons-react';
import { ApiProblem } from '../api/api-problem';
import layout from './layout.module.css';
import { Empty } from './notices';
import { Page } from './page';

export const isNotFound = (error: unknown): boolean => error instanceof ApiProblem && error.code === 'not_found';

interface MissingPageProps {
  /** `tenant` or `tier`. */
  readonly kind: string;
  readonly name: string;
  /** The way to what there is. */
  readonly next: ReactNode;
}

/** A page about something that does not exist: a mistyped or an old address, nothing that trying again would heal. */
export function MissingPage({ kind, name, next }: MissingPageProps): ReactNode {
  return (
    <Page title={`No ${kind} named ${name}`}>
      <section className={layout.panel}>
        <Empty title="Nothing is here" icon={<IconZoomQuestion size={32} stroke={1.4} aria-hidden />} next={next}>
          The address may be mistyped or older than the {kind}.
        </Empty>
      </section>
    </Page>
  );
}
