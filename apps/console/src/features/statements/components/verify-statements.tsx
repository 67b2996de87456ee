import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import type { StatementVerification } from '@quotaplane/contracts';
import { IconCircleCheck, IconShieldCheck } from '@tabler/icons-react';
import { Notice, ProblemNotice } from '../../../components/notices';
import { formatCount, plural } from '../../../format/number';
import type { useVerifyStatements } from '../api/statement.queries';
import classes from './statement.module.css';

type Verify = ReturnType<typeof useVerifyStatements>;

/** Recomputes statements from the raw rows: of one tenant, or of everyone. */
export function VerifyButton({ verify, tenant }: { readonly verify: Verify; readonly tenant: string | undefined }): ReactNode {
  return (
    <Button size="compact-sm" variant="default" leftSection={<IconShieldCheck size={15} />} loading={verify.isPending} onClick={() => verify.mutate(tenant)}>
      Verify{tenant === undefined ? ' all' : ''}
    </Button>
  );
}

export function VerifyResult({ verify }: { readonly verify: Verify }): ReactNode {
  if (!verify.error && !verify.data) return null;
  return (
    <div role="status">
      {verify.error ? <ProblemNotice error={verify.error} onRetry={() => verify.mutate(verify.variables)} /> : null}
      {verify.data ? <Outcome verification={verify.data} /> : null}
    </div>
  );
}

function Outcome({ verification: { isSound, statements, tenants, problems, tookMs } }: { readonly verification: StatementVerification }): ReactNode {
  const looked = `${plural(statements, 'statement')} of ${plural(tenants, 'tenant')} recomputed from the raw rows in ${formatCount(tookMs)} ms`;
  if (statements === 0) return <Notice>There is no statement to verify yet.</Notice>;
  if (isSound) {
    return (
      <p className={classes.sound}>
        <IconCircleCheck size={18} stroke={1.8} aria-hidden />
        <span>
          <strong>Sound.</strong> {looked}.
        </span>
      </p>
    );
  }
  return (
    <Notice tone="warn">
      <strong>Not sound.</strong> {looked}; compare these with a backup before the next bill goes out.
      {problems.map(({ tenant, number, period, problem, detail }) => (
        <div key={`${tenant} ${number} ${problem} ${detail}`}>
          {tenant}, statement {number} of {period}: <strong>{PROBLEM_WORDS[problem]}</strong>. {detail}
        </div>
      ))}
    </Notice>
  );
}

const PROBLEM_WORDS = {
  hash: 'its hash does not fit its content',
  chain: 'it does not follow the statement before',
  adjustment: 'an adjustment does not fit',
  figures: 'the raw rows add up to something else',
} as const;
