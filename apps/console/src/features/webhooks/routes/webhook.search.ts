import { deliveryState, eventType } from '@quotaplane/contracts';
import { z } from 'zod';

/** Which deliveries are listed, as it stands in the URL; nothing there means all. */
export const webhookSearch = z.object({
  state: deliveryState.optional().catch(undefined),
  type: eventType.optional().catch(undefined),
});
