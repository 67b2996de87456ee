import { Controller, Inject } from '@nestjs/common';
import { routes, type RouteInput, type RouteOutput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { TierVersionsService } from './tier-versions.service';

@Controller()
export class TierVersionsController {
  constructor(@Inject(TierVersionsService) private readonly versions: TierVersionsService) {}

  @Endpoint(routes.tierDraftGet)
  draft(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tierDraftGet>): Promise<RouteOutput<typeof routes.tierDraftGet>> {
    return this.versions.draft(caller, input.params.slug);
  }

  @Endpoint(routes.tierDraftPut)
  putDraft(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tierDraftPut>): Promise<RouteOutput<typeof routes.tierDraftPut>> {
    return this.versions.putDraft(caller, input.params.slug, input.ifVersion, input.body);
  }

  @Endpoint(routes.tierDraftDelete)
  deleteDraft(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tierDraftDelete>): Promise<RouteOutput<typeof routes.tierDraftDelete>> {
    return this.versions.deleteDraft(caller, input.params.slug, input.ifVersion);
  }

  @Endpoint(routes.tierPublish)
  publish(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tierPublish>): Promise<RouteOutput<typeof routes.tierPublish>> {
    return this.versions.publish(caller, input.params.slug, input.body);
  }

  @Endpoint(routes.tierVersionsList)
  list(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tierVersionsList>): Promise<RouteOutput<typeof routes.tierVersionsList>> {
    return this.versions.list(caller, input.params.slug, input.query);
  }
}
