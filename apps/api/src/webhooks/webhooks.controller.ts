import { Controller, Inject } from '@nestjs/common';
import { routes, type RouteInput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { DeliveriesService } from './deliveries.service';
import { WebhooksService } from './webhooks.service';

@Controller()
export class WebhooksController {
  constructor(@Inject(WebhooksService) private readonly webhooks: WebhooksService, @Inject(DeliveriesService) private readonly deliveries: DeliveriesService) {}

  @Endpoint(routes.webhooksList)
  list(@CurrentActor() _caller: Caller, @Input() input: RouteInput<typeof routes.webhooksList>) {
    return this.webhooks.list(input);
  }

  @Endpoint(routes.webhooksCreate)
  create(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.webhooksCreate>) {
    return this.webhooks.create(caller, input);
  }

  @Endpoint(routes.webhooksGet)
  get(@CurrentActor() _caller: Caller, @Input() input: RouteInput<typeof routes.webhooksGet>) {
    return this.webhooks.get(input);
  }

  @Endpoint(routes.webhooksPatch)
  patch(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.webhooksPatch>) {
    return this.webhooks.patch(caller, input);
  }

  @Endpoint(routes.webhooksDelete)
  delete(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.webhooksDelete>) {
    return this.webhooks.delete(caller, input);
  }

  @Endpoint(routes.webhooksRotate)
  rotate(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.webhooksRotate>) {
    return this.webhooks.rotate(caller, input);
  }

  @Endpoint(routes.webhookDeliveriesList)
  listDeliveries(@CurrentActor() _caller: Caller, @Input() input: RouteInput<typeof routes.webhookDeliveriesList>) {
    return this.deliveries.list(input);
  }

  @Endpoint(routes.webhookRedeliver)
  redeliver(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.webhookRedeliver>) {
    return this.deliveries.redeliver(caller, input);
  }
}
