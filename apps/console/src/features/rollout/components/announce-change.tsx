import { notifications } from '@mantine/notifications';
import { Receipts } from './receipts';

/** Says that a change is saved and follows it to the nodes. */
export function announceChange(title: string, changeId: string): void {
  notifications.show({
    title,
    message: <Receipts changeId={changeId} />,
    autoClose: 8000,
    withCloseButton: true,
    closeButtonProps: { 'aria-label': 'Dismiss' },
  });
}
