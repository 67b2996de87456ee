import { describe, expect, it } from 'vitest';
import { QuotaplaneModule } from './module/quotaplane.module';
import { QuotaplaneOptionsError, resolveOptions } from './resolve-options';

const good = { redisUrl: 'redis://127.0.0.1:6379', service: 'orders' };

describe('the options', () => {
  it('fill in every default', () => {
    expect(resolveOptions(good)).toMatchObject({ expectedNodes: 1, ipv6Prefix: 64, storeBudgetMs: 25, deniedForMs: 250, failMode: 'local', legacyHeaders: false, cors: { expose: true } });
  });

  it.each([
    [{ redisUrl: 'http://x' }, 'redisUrl'], [{ redisUrl: 'redis://10.0.0.1:6379,http://secret@10.0.0.2' }, 'redisUrl: '],
    [{ redisUrl: 'redis://10.0.0.1:6379/3?cluster=true' }, 'redisUrl: '], [{ service: 'Orders!' }, 'service'], [{ expectedNodes: 0 }, 'expectedNodes'], [{ ipv6Prefix: 129 }, 'ipv6Prefix'],
    [{ storeBudgetMs: 0.5 }, 'storeBudgetMs'], [{ deniedForMs: 251 }, 'deniedForMs'], [{ trustedProxies: ['10.0.0.0/99'] }, 'trustedProxies[0]'], [{ docsUrl: 'limits' }, 'docsUrl'],
    [{ defaultLimits: [{ name: 'x', limit: 0, windowMs: 1 }] }, 'defaultLimits[0].limit'],
    [{ defaultLimits: [{ name: 'x', limit: 9_007_199_254_740_991, windowMs: 60_000 }] }, 'defaultLimits[0]'],
  ])('refuse %j and name %s', (fault, name) => {
    expect(() => QuotaplaneModule.forRoot({ ...good, ...fault })).toThrow(QuotaplaneOptionsError);
    expect(() => QuotaplaneModule.forRoot({ ...good, ...fault })).toThrow(name);
  });

  it('name all faults at once', () => {
    expect(() => resolveOptions({ redisUrl: '', service: '' })).toThrow(/redisUrl .*; service /);
  });
});
