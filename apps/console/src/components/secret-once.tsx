import type { ReactNode } from 'react';
import { Button, CopyButton, Modal } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { Notice } from './notices';
import layout from './layout.module.css';
import classes from './secret-once.module.css';

interface SecretOnceProps {
  readonly title: string;
  /** Null closes the dialog; undefined means that the answer no longer carried it. */
  readonly secret: string | null | undefined;
  /** Why there is no second look. */
  readonly why?: string;
  /** What to do where the answer no longer carried it. */
  readonly lost?: string;
  readonly onClose: () => void;
}

/** Shows a fresh secret, once. */
export function SecretOnce({
  title,
  secret,
  why = 'Only a hash is stored, so it cannot be shown again.',
  lost = 'Revoke this one and create another.',
  onClose,
}: SecretOnceProps): ReactNode {
  return (
    <Modal opened={secret !== null} onClose={onClose} title={title} closeOnClickOutside={false} size="lg">
      <div className={layout.tight}>
        {secret ? (
          <>
            <Notice tone="warn">Copy it now. {why}</Notice>
            <div className={classes.secret}>
              <code data-testid="secret">{secret}</code>
              <CopyButton value={secret}>
                {({ copied, copy }) => (
                  <Button variant="default" size="compact-sm" onClick={copy} leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}>
                    {copied ? 'Copied' : 'Copy'}
                  </Button>
                )}
              </CopyButton>
            </div>
          </>
        ) : (
          <Notice tone="warn">The secret was shown once already. {lost}</Notice>
        )}
        <div className={layout.row}>
          <span className={layout.spring} />
          <Button onClick={onClose}>I have stored it</Button>
        </div>
      </div>
    </Modal>
  );
}
