export * from './journal-field';
