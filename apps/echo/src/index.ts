export { EchoModule } from './echo.module';
export { startEcho, type RunningEcho } from './start-echo';
