import { useState, type ReactNode } from 'react';
import { Button } from '@mantine/core';
import { IconArrowBackUp } from '@tabler/icons-react';
import type { TopUp } from '@quotaplane/contracts';
import { Time } from '../../../components/figures';
import layout from '../../../components/layout.module.css';
import { Receipts } from '../../rollout/components/receipts';
import { WithdrawForm } from './withdraw-form';
import classes from './top-ups.module.css';

interface GrantSavedProps {
  readonly topUp: TopUp & { readonly changeId: string };
  readonly zone: string;
  readonly onClose: () => void;
}

/** Third step: where it is live, and the way back. */
export function GrantSaved({ topUp, zone, onClose }: GrantSavedProps): ReactNode {
  const [isUndoing, setUndoing] = useState(false);
  const [undoneBy, setUndoneBy] = useState<string>();
  return (
    <div className={classes.form}>
      <div className={classes.receipt}>
        <Receipts key={undoneBy ?? topUp.changeId} changeId={undoneBy ?? topUp.changeId} />
      </div>
      <p className={classes.hint}>
        {undoneBy !== undefined ? (
          'Withdrawn: what was not drawn is gone again.'
        ) : topUp.expiresAt === null ? (
          'It lasts until it is spent.'
        ) : (
          <>
            What is left of it lapses <Time at={topUp.expiresAt} zone={zone} as="relative" />, at <Time at={topUp.expiresAt} zone={zone} />.
          </>
        )}
      </p>
      {isUndoing && undoneBy === undefined ? (
        <WithdrawForm topUp={topUp} reason={`Undo: ${topUp.reason}`} onCancel={() => setUndoing(false)} onWithdrawn={setUndoneBy} />
      ) : (
        <div className={classes.foot}>
          {undoneBy === undefined ? (
            <Button variant="default" leftSection={<IconArrowBackUp size={16} />} onClick={() => setUndoing(true)}>
              Undo
            </Button>
          ) : null}
          <span className={layout.spring} />
          <Button onClick={onClose}>Done</Button>
        </div>
      )}
    </div>
  );
}
