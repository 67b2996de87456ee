import { Controller, Inject } from '@nestjs/common';
import { routes, type RouteInput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { TenantListService } from './tenant-list.service';
import { TenantPolicyService } from './tenant-policy.service';
import { TenantsService } from './tenants.service';
import { TierPreviewService } from './tier-preview.service';

@Controller()
export class TenantsController {
  constructor(
    @Inject(TenantsService) private readonly tenants: TenantsService,
    @Inject(TenantListService) private readonly lists: TenantListService,
    @Inject(TenantPolicyService) private readonly policies: TenantPolicyService,
    @Inject(TierPreviewService) private readonly previews: TierPreviewService,
  ) {}

  @Endpoint(routes.tenantsList)
  list(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tenantsList>) {
    return this.lists.list(caller, input);
  }

  @Endpoint(routes.tenantsCreate)
  create(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tenantsCreate>) {
    return this.tenants.create(caller, input);
  }

  @Endpoint(routes.tenantsGet)
  get(@Input() input: RouteInput<typeof routes.tenantsGet>) {
    return this.tenants.get(input.params.slug);
  }

  @Endpoint(routes.tenantsPatch)
  patch(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tenantsPatch>) {
    return this.tenants.patch(caller, input);
  }

  @Endpoint(routes.tenantsDelete)
  delete(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tenantsDelete>) {
    return this.tenants.delete(caller, input);
  }

  @Endpoint(routes.tenantTierPut)
  putTier(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tenantTierPut>) {
    return this.tenants.putTier(caller, input);
  }

  @Endpoint(routes.tenantTierPreview)
  previewTier(@Input() input: RouteInput<typeof routes.tenantTierPreview>) {
    return this.previews.get(input);
  }

  @Endpoint(routes.tenantPolicyGet)
  policy(@Input() input: RouteInput<typeof routes.tenantPolicyGet>) {
    return this.policies.get(input.params.slug);
  }
}
