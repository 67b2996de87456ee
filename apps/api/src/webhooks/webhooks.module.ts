import { Module } from '@nestjs/common';
import { DeliveriesService } from './deliveries.service';
import { ReceiverAddress, RESOLVE_NAME, resolveBySystem } from './receiver-address';
import { WebhooksController } from './webhooks.controller';
import { WebhooksService } from './webhooks.service';

/** Endpoints and their log, of the HTTP process. Sending is the worker's: sending.module.ts. */
@Module({
  controllers: [WebhooksController],
  providers: [WebhooksService, DeliveriesService, ReceiverAddress, { provide: RESOLVE_NAME, useValue: resolveBySystem }],
})
export class WebhooksModule {}
