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
import { SettingsModule } from './settings/settings.module';
import { TiersModule } from './tiers/tiers.module';

/** Every room of the HTTP process. */
@Module({})
export class AppModule {
  static with(config: AppConfig, clock?: Clock): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.with(config, clock), DatabaseModule, ChangesModule, HealthModule, HttpModule, AuthModule,
        AuditModule, SettingsModule, TiersModule, ClassesModule,
      ],
    };
  }
}
