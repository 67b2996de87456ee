import { Controller, Inject } from '@nestjs/common';
import { routes, type RouteInput, type RouteOutput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { ClassesService } from './classes.service';

@Controller()
export class ClassesController {
  constructor(@Inject(ClassesService) private readonly classes: ClassesService) {}

  @Endpoint(routes.classesList)
  list(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.classesList>): Promise<RouteOutput<typeof routes.classesList>> {
    return this.classes.list(caller, input.query);
  }

  @Endpoint(routes.classesCreate)
  create(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.classesCreate>): Promise<RouteOutput<typeof routes.classesCreate>> {
    return this.classes.create(caller, input.body);
  }

  @Endpoint(routes.classesGet)
  get(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.classesGet>): Promise<RouteOutput<typeof routes.classesGet>> {
    return this.classes.get(caller, input.params.slug);
  }

  @Endpoint(routes.classesPatch)
  patch(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.classesPatch>): Promise<RouteOutput<typeof routes.classesPatch>> {
    return this.classes.patch(caller, input.params.slug, input.ifVersion, input.body);
  }

  @Endpoint(routes.classesDelete)
  delete(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.classesDelete>): Promise<RouteOutput<typeof routes.classesDelete>> {
    return this.classes.delete(caller, input.params.slug, input.ifVersion);
  }
}
