import { Controller, Inject } from '@nestjs/common';
import { routes, type RouteInput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { KeysService } from './keys.service';

@Controller()
export class KeysController {
  constructor(@Inject(KeysService) private readonly keys: KeysService) {}

  @Endpoint(routes.keysList)
  list(@Input() input: RouteInput<typeof routes.keysList>) {
    return this.keys.list(input);
  }

  @Endpoint(routes.keysCreate)
  create(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.keysCreate>) {
    return this.keys.create(caller, input);
  }

  @Endpoint(routes.keysGet)
  get(@Input() input: RouteInput<typeof routes.keysGet>) {
    return this.keys.get(input);
  }

  @Endpoint(routes.keysDelete)
  revoke(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.keysDelete>) {
    return this.keys.revoke(caller, input);
  }
}
