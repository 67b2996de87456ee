import { Module, type DynamicModule } from '@nestjs/common';
import { AuditModule } from './audit/audit.module';
import type { AppConfig } from './config/app-config';
import { ConfigModule } from './config/config.module';
import { DatabaseModule } from './database/database.module';

/** Every room of the HTTP process. */
@Module({})
export class AppModule {
  static with(config: AppConfig): DynamicModule {
    return { module: AppModule, imports: [ConfigModule.with(config), DatabaseModule, AuditModule] };
  }
}
