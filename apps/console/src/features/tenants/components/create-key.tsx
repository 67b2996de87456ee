import type { ReactNode } from 'react';
import { FormModal } from '../../../components/form-modal';
import { KeyForm } from './key-form';

interface CreateKeyProps {
  readonly tenant: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onCreated: (secret: string | undefined) => void;
}

export function CreateKey({ tenant, isOpen, onClose, onCreated }: CreateKeyProps): ReactNode {
  return (
    <FormModal isOpen={isOpen} onClose={onClose} title={`Create a key for ${tenant}`}>
      {({ leave }) => <KeyForm tenant={tenant} onCancel={leave} onCreated={onCreated} />}
    </FormModal>
  );
}
