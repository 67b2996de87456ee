import { Controller, Header, Inject, StreamableFile } from '@nestjs/common';
import { routes, type RouteInput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { EventsService } from './events.service';
import { ReceiptsService } from './receipts.service';

@Controller()
export class RolloutController {
  constructor(@Inject(ReceiptsService) private readonly receipts: ReceiptsService, @Inject(EventsService) private readonly events: EventsService) {}

  @Endpoint(routes.changesGet)
  change(@Input() input: RouteInput<typeof routes.changesGet>) {
    return this.receipts.get(input.params.id);
  }

  @Endpoint(routes.nodesList)
  nodes(@Input() input: RouteInput<typeof routes.nodesList>) {
    return this.receipts.listNodes(input);
  }

  @Endpoint(routes.events)
  @Header('Cache-Control', 'no-store')
  // Proxies that buffer would hold events back.
  @Header('X-Accel-Buffering', 'no')
  stream(@CurrentActor() caller: Caller): StreamableFile {
    return new StreamableFile(this.events.open(caller).body, { type: 'text/event-stream; charset=utf-8' });
  }
}
