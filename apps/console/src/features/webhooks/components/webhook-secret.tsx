import type { ReactNode } from 'react';
import { SecretOnce } from '../../../components/secret-once';

interface WebhookSecretProps {
  readonly title: string;
  /** Null keeps the dialog shut. */
  readonly secret: string | null | undefined;
  readonly onClose: () => void;
}

export function WebhookSecret(props: WebhookSecretProps): ReactNode {
  return (
    <SecretOnce
      {...props}
      why="The receiver checks signatures with it (Standard Webhooks). It is never shown again; rotating makes another."
      lost="Rotate it to get another; the former one signs for 24 hours more."
    />
  );
}
