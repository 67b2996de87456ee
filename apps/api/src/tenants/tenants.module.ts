import { Module } from '@nestjs/common';
import { UsageModule } from '../usage/usage.module';
import { TenantListService } from './tenant-list.service';
import { TenantPolicyService } from './tenant-policy.service';
import { TenantsController } from './tenants.controller';
import { TenantsService } from './tenants.service';
import { TierPreviewService } from './tier-preview.service';

@Module({ imports: [UsageModule], controllers: [TenantsController], providers: [TenantsService, TenantListService, TenantPolicyService, TierPreviewService] })
export class TenantsModule {}
