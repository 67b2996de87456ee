import { Controller, Inject } from '@nestjs/common';
import { routes, type RouteInput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { ListsService } from './lists.service';

@Controller()
export class ListsController {
  constructor(@Inject(ListsService) private readonly lists: ListsService) {}

  @Endpoint(routes.listsList)
  list(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.listsList>) {
    return this.lists.list(caller, input);
  }

  @Endpoint(routes.listsCreate)
  create(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.listsCreate>) {
    return this.lists.create(caller, input);
  }

  @Endpoint(routes.listsGet)
  get(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.listsGet>) {
    return this.lists.get(caller, input);
  }

  @Endpoint(routes.listsDelete)
  lift(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.listsDelete>) {
    return this.lists.lift(caller, input);
  }
}
