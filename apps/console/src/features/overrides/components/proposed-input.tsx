import type { ReactNode } from 'react';
import { ActionIcon, NumberInput } from '@mantine/core';
import { IconArrowBackUp, IconInfinity } from '@tabler/icons-react';
import { MAX_EXACT } from '@quotaplane/contracts';
import { formatCount } from '../../../format/number';
import { Tooltip } from '../../../components/tooltip';
import type { Proposed } from './raise-values';
import classes from './raise.module.css';

interface ProposedInputProps {
  readonly label: string;
  readonly current: number | null;
  readonly value: Proposed;
  readonly error: string | undefined;
  readonly onChange: (value: Proposed) => void;
  readonly isAutoFocused?: boolean;
}

/** A number beside the one in force; unlimited is a choice of its own, never an emptied field. */
export function ProposedInput({ label, current, value, error, onChange, isAutoFocused = false }: ProposedInputProps): ReactNode {
  const isChanged = value !== current;
  return (
    <div className={classes.proposed} data-changed={isChanged || undefined}>
      <NumberInput
        aria-label={label}
        placeholder={value === null ? 'unlimited' : 'units'}
        min={0}
        max={MAX_EXACT}
        clampBehavior="none"
        error={value !== null && value < 0 ? 'Negative numbers are refused' : error}
        autoFocus={isAutoFocused}
        // For the dialog's focus trap, should it come after the field.
        data-autofocus={isAutoFocused || undefined}
        selectAllOnFocus
        value={value === null || Number.isNaN(value) ? '' : value}
        onChange={(typed) => onChange(typed === '' ? Number.NaN : Number(typed))}
      />
      {isChanged ? (
        <Tooltip label={`Back to ${formatCount(current)}`}>
          <ActionIcon variant="subtle" color="gray" aria-label={`${label}: back to ${formatCount(current)}`} onClick={() => onChange(current)}>
            <IconArrowBackUp size={15} />
          </ActionIcon>
        </Tooltip>
      ) : (
        <Tooltip label="Unlimited">
          <ActionIcon variant="subtle" color="gray" aria-label={`${label}: unlimited`} onClick={() => onChange(null)} disabled={current === null}>
            <IconInfinity size={15} />
          </ActionIcon>
        </Tooltip>
      )}
    </div>
  );
}
