import { Controller, Inject } from '@nestjs/common';
import { routes, type RouteInput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { TopUpsService } from './top-ups.service';

@Controller()
export class TopUpsController {
  constructor(@Inject(TopUpsService) private readonly topUps: TopUpsService) {}

  @Endpoint(routes.topUpsList)
  list(@Input() input: RouteInput<typeof routes.topUpsList>) {
    return this.topUps.list(input);
  }

  @Endpoint(routes.topUpsCreate)
  create(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.topUpsCreate>) {
    return this.topUps.create(caller, input);
  }

  @Endpoint(routes.topUpsGet)
  get(@Input() input: RouteInput<typeof routes.topUpsGet>) {
    return this.topUps.get(input);
  }

  @Endpoint(routes.topUpsDelete)
  withdraw(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.topUpsDelete>) {
    return this.topUps.withdraw(caller, input);
  }
}
