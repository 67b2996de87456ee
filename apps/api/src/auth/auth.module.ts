import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AccessGuard } from './access.guard';
import { AuthController } from './auth.controller';
import { Authenticator } from './authenticator';
import { BootstrapService } from './bootstrap.service';
import { OperatorsController } from './operators.controller';
import { OperatorsService } from './operators.service';
import { SessionsService } from './sessions.service';
import { SignInLimits } from './sign-in-limits';
import { SignInService } from './sign-in.service';
import { TokensController } from './tokens.controller';
import { TokensService } from './tokens.service';

/** Who asks and what they may do. */
@Module({
  controllers: [AuthController, OperatorsController, TokensController],
  providers: [
    Authenticator, SessionsService, SignInLimits, SignInService, OperatorsService, TokensService, BootstrapService,
    { provide: APP_GUARD, useClass: AccessGuard },
  ],
})
export class AuthModule {}
