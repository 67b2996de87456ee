import { Controller, Inject } from '@nestjs/common';
import { routes, type RouteInput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { OffendersService } from './offenders.service';

@Controller()
export class OffendersController {
  constructor(@Inject(OffendersService) private readonly offenders: OffendersService) {}

  @Endpoint(routes.offendersList)
  list(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.offendersList>) {
    return this.offenders.list(caller, input);
  }
}
