import { useState, type ReactNode } from 'react';
import { Button } from '@mantine/core';
import { IconArrowBackUp } from '@tabler/icons-react';
import { Time } from '../../../components/figures';
import layout from '../../../components/layout.module.css';
import { Receipts } from './receipts';
import classes from './saved-change.module.css';

interface SavedChangeProps {
  readonly changeId: string;
  /** When it ends by itself; null: by hand alone. */
  readonly until: string | null;
  readonly zone: string;
  /** What is told: before its end, where it has none, and once it is undone. */
  readonly words: { readonly ends: string; readonly stays: string; readonly undone: string };
  /** Form that undoes it; `onUndone` gets the id of the change that did. */
  readonly undo: (form: { readonly onCancel: () => void; readonly onUndone: (changeId: string) => void }) => ReactNode;
  readonly onClose: () => void;
}

/** Last step of a dialog that changes what guards enforce: where it is live, and the way back. */
export function SavedChange({ changeId, until, zone, words, undo, onClose }: SavedChangeProps): ReactNode {
  const [isUndoing, setUndoing] = useState(false);
  const [undoneBy, setUndoneBy] = useState<string>();
  const shown = undoneBy ?? changeId;
  return (
    <div className={classes.saved}>
      <div className={classes.receipt}>
        <Receipts key={shown} changeId={shown} />
      </div>
      <p className={classes.hint}>
        {undoneBy !== undefined ? (
          words.undone
        ) : until === null ? (
          words.stays
        ) : (
          <>
            {words.ends} <Time at={until} zone={zone} as="relative" />, at <Time at={until} zone={zone} />.
          </>
        )}
      </p>
      {isUndoing && undoneBy === undefined ? (
        undo({ onCancel: () => setUndoing(false), onUndone: setUndoneBy })
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
