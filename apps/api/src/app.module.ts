import { Module, type DynamicModule } from '@nestjs/common';
import { AuditModule, ChangesModule } from './audit/audit.module';
import { AuthModule } from './auth/auth.module';
import { ClassesModule } from './classes/classes.module';
import type { AppConfig } from './config/app-config';
import type { Clock } from './config/clock';
import { ConfigModule } from './config/config.module';
import { DatabaseModule } from './database/database.module';
import { HealthModule } from './health/health.module';
import { HttpModule } from './http/http.module';
import { KeysModule } from './keys/keys.module';
import { LimitsModule } from './limits/limits.module';
import { ListsModule } from './lists/lists.module';
import { OffendersModule } from './offenders/offenders.module';
import { ChangePokeModule } from './outbox/queues.module';
import { OverridesModule } from './overrides/overrides.module';
import { PenaltiesModule } from './penalties/penalties.module';
import { RecordsModule } from './records/records.module';
import { QuotasModule } from './quotas/quotas.module';
import { RolloutModule } from './rollout/rollout.module';
import { DemoReadinessModule } from './seed/demo-readiness.module';
import { SettingsModule } from './settings/settings.module';
import { StatementsModule } from './statements/statements.module';
import { TenantsModule } from './tenants/tenants.module';
import { TiersModule } from './tiers/tiers.module';
import { UsageModule } from './usage/usage.module';
import { WebhooksModule } from './webhooks/webhooks.module';

/** Every room of the HTTP process. */
@Module({})
export class AppModule {
  static with(config: AppConfig, clock?: Clock): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.with(config, clock), DatabaseModule, ChangesModule, HealthModule, HttpModule, AuthModule,
        AuditModule, SettingsModule, TiersModule, ClassesModule,
        ChangePokeModule, TenantsModule, KeysModule, OverridesModule, QuotasModule, ListsModule, PenaltiesModule, UsageModule, RecordsModule, StatementsModule, OffendersModule, RolloutModule, LimitsModule, WebhooksModule, DemoReadinessModule,
      ],
    };
  }
}
