import { Controller, Inject } from '@nestjs/common';
import { routes, type RouteInput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { OverridesService } from './overrides.service';

@Controller()
export class OverridesController {
  constructor(@Inject(OverridesService) private readonly overrides: OverridesService) {}

  @Endpoint(routes.overridesList)
  list(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.overridesList>) {
    return this.overrides.list(caller, input);
  }

  @Endpoint(routes.overridesCreate)
  create(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.overridesCreate>) {
    return this.overrides.create(caller, input);
  }

  @Endpoint(routes.overridesGet)
  get(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.overridesGet>) {
    return this.overrides.get(caller, input);
  }

  @Endpoint(routes.overridesPatch)
  patch(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.overridesPatch>) {
    return this.overrides.patch(caller, input);
  }

  @Endpoint(routes.overridesDelete)
  delete(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.overridesDelete>) {
    return this.overrides.delete(caller, input);
  }

  @Endpoint(routes.overridesRevert)
  revert(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.overridesRevert>) {
    return this.overrides.revert(caller, input);
  }
}
