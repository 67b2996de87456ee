export * from './flush-loop';
export * from './journal';
export * from './journal-field';
export * from './journal-reader';
export * from './offender-log';
export * from './periods';
export * from './settlement';
export * from './traffic-log';
