import { Global, Module, type DynamicModule } from '@nestjs/common';
import { AppConfig } from './app-config';
import { Clock } from './clock';

/** Settings and the clock, for every room. */
@Global()
@Module({})
export class ConfigModule {
  static with(config: AppConfig, clock: Clock = new Clock()): DynamicModule {
    return {
      module: ConfigModule,
      providers: [{ provide: AppConfig, useValue: config }, { provide: Clock, useValue: clock }],
      exports: [AppConfig, Clock],
    };
  }
}
