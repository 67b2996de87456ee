import { Controller, Inject } from '@nestjs/common';
import { routes, type RouteInput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { PenaltiesService } from './penalties.service';

@Controller()
export class PenaltiesController {
  constructor(@Inject(PenaltiesService) private readonly penalties: PenaltiesService) {}

  @Endpoint(routes.penaltiesList)
  list(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.penaltiesList>) {
    return this.penalties.list(caller, input);
  }

  @Endpoint(routes.penaltiesCreate)
  create(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.penaltiesCreate>) {
    return this.penalties.create(caller, input);
  }

  @Endpoint(routes.penaltiesGet)
  get(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.penaltiesGet>) {
    return this.penalties.get(caller, input);
  }

  @Endpoint(routes.penaltiesDelete)
  lift(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.penaltiesDelete>) {
    return this.penalties.lift(caller, input);
  }
}
