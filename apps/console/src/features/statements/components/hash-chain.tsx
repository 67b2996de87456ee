import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import type { Statement } from '@quotaplane/contracts';
import { CopyText } from '../../../components/copy-text';
import { Panel } from '../../../components/page';
import { useVerifyStatements } from '../api/statement.queries';
import { VerifyButton, VerifyResult } from './verify-statements';
import classes from './statement.module.css';

const FIRST = '0'.repeat(64);

interface HashChainProps {
  readonly statement: Statement;
  /** The tenant's statement before, where it was found. */
  readonly before: Pick<Statement, 'id' | 'number'> | undefined;
}

/** Each hash covers the one before it: whoever changes an old figure changes every hash since. */
export function HashChain({ statement, before }: HashChainProps): ReactNode {
  const { previousHash, hash, number, tenant, adjustments } = statement;
  const verify = useVerifyStatements();
  return (
    <Panel title="Hash chain" isFlush note="SHA-256" actions={<VerifyButton verify={verify} tenant={tenant} />}>
      <ol className={classes.chain}>
        <li>
          {previousHash === FIRST ? (
            'The chain begins here'
          ) : before ? (
            <Link to="/statements/$id" params={{ id: before.id }}>
              Statement {before.number}
            </Link>
          ) : (
            `Statement ${number - 1}`
          )}
          <Hash of={previousHash === FIRST ? undefined : previousHash} label="Copy the hash of the statement before" />
        </li>
        <li data-here>
          <strong>Statement {number}</strong>, this one
          <Hash of={hash} label="Copy the hash of this statement" />
        </li>
        {adjustments.map((adjustment) => (
          <li key={adjustment.number}>
            Adjustment {adjustment.number}
            <Hash of={adjustment.hash} label={`Copy the hash of adjustment ${adjustment.number}`} />
          </li>
        ))}
      </ol>
      <div className={classes.verified}>
        <VerifyResult verify={verify} />
      </div>
      <p className={classes.note}>Over the canonical JSON (RFC 8785) of the statement and the hash before it; docs/billing.md says how to check it yourself.</p>
    </Panel>
  );
}

function Hash({ of, label }: { readonly of: string | undefined; readonly label: string }): ReactNode {
  if (of === undefined) return null;
  return (
    <span className={classes.hash}>
      <code>{of}</code>
      <CopyText text={of} label={label} />
    </span>
  );
}
