import type { TierContent } from '@quotaplane/contracts';
import type { FieldPathByValue, UseFormRegisterReturn, UseFormReturn } from 'react-hook-form';
import { groupUnits, type DraftValues } from './draft-values';

export type DraftForm = UseFormReturn<DraftValues, unknown, TierContent>;
type TextField = FieldPathByValue<DraftValues, string>;

/** A field of units, whose figures are grouped once they are typed. */
export function registerUnits(form: DraftForm, name: TextField): UseFormRegisterReturn<TextField> {
  return form.register(name, {
    onBlur: (event: { readonly target: { readonly value: string } }) => form.setValue(name, groupUnits(event.target.value)),
  });
}
