export * from './counter-key';
export * from './store';
