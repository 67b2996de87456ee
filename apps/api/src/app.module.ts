import { Module, type DynamicModule } from '@nestjs/common';
import { AuditModule, ChangesModule } from './audit/audit.module';
import { AuthModule } from './auth/auth.module';
import type { AppConfig } from './config/app-config';
import { ConfigModule } from './config/config.module';
import { DatabaseModule } from './database/database.module';
import { HealthModule } from './health/health.module';
import { HttpModule } from './http/http.module';
import { SettingsModule } from './settings/settings.module';

/** Every room of the HTTP process. */
@Module({})
export class AppModule {
  static with(config: AppConfig): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.with(config), DatabaseModule, ChangesModule, HealthModule, HttpModule, AuthModule,
        AuditModule, SettingsModule,
      ],
    };
  }
}
