import { useState, type ReactNode } from 'react';
import { Button } from '@mantine/core';
import { IconArrowBackUp } from '@tabler/icons-react';
import type { Override } from '@quotaplane/contracts';
import { Time } from '../../../components/figures';
import layout from '../../../components/layout.module.css';
import { Receipts } from '../../rollout/components/receipts';
import { RevertForm } from './revert-form';
import classes from './raise.module.css';

interface RaiseSavedProps {
  readonly override: Override & { readonly changeId: string };
  readonly zone: string;
  readonly onClose: () => void;
}

/** Third step: where it is live, and the way back. */
export function RaiseSaved({ override, zone, onClose }: RaiseSavedProps): ReactNode {
  const [isUndoing, setUndoing] = useState(false);
  const [undoneBy, setUndoneBy] = useState<string>();
  return (
    <div className={classes.form}>
      <div className={classes.receipt}>
        <Receipts key={undoneBy ?? override.changeId} changeId={undoneBy ?? override.changeId} />
      </div>
      <p className={classes.hint}>
        {undoneBy !== undefined ? (
          'Undone: the tier’s numbers are back.'
        ) : override.until === null ? (
          'It stays until someone reverts it.'
        ) : (
          <>
            It ends by itself <Time at={override.until} zone={zone} as="relative" />, at <Time at={override.until} zone={zone} />.
          </>
        )}
      </p>
      {isUndoing && undoneBy === undefined ? (
        <RevertForm override={override} reason={`Undo: ${override.reason}`} onCancel={() => setUndoing(false)} onReverted={setUndoneBy} />
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
