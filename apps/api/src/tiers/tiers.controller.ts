import { Controller, Inject } from '@nestjs/common';
import { routes, type RouteInput, type RouteOutput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { TiersService } from './tiers.service';

@Controller()
export class TiersController {
  constructor(@Inject(TiersService) private readonly tiers: TiersService) {}

  @Endpoint(routes.tiersList)
  list(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tiersList>): Promise<RouteOutput<typeof routes.tiersList>> {
    return this.tiers.list(caller, input.query);
  }

  @Endpoint(routes.tiersCreate)
  create(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tiersCreate>): Promise<RouteOutput<typeof routes.tiersCreate>> {
    return this.tiers.create(caller, input.body);
  }

  @Endpoint(routes.tiersGet)
  get(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tiersGet>): Promise<RouteOutput<typeof routes.tiersGet>> {
    return this.tiers.get(caller, input.params.slug);
  }

  @Endpoint(routes.tiersPatch)
  patch(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tiersPatch>): Promise<RouteOutput<typeof routes.tiersPatch>> {
    return this.tiers.patch(caller, input.params.slug, input.ifVersion, input.body);
  }

  @Endpoint(routes.tiersArchive)
  archive(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tiersArchive>): Promise<RouteOutput<typeof routes.tiersArchive>> {
    return this.tiers.archive(caller, input.params.slug);
  }
}
