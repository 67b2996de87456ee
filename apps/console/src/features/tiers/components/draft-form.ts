import type { TierContent } from '@quotaplane/contracts';
import type { UseFormReturn } from 'react-hook-form';
import type { DraftValues } from './draft-values';

export type DraftForm = UseFormReturn<DraftValues, unknown, TierContent>;
