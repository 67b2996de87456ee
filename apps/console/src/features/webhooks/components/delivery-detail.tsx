import type { ReactNode } from 'react';
import { Time } from '../../../components/figures';
import type { WebhookDelivery } from '@quotaplane/contracts';
import { formatCount } from '../../../format/number';
import classes from './webhooks.module.css';

/** Each attempt with what came back, beside what was sent. */
export function DeliveryDetail({ delivery: { attempts, log, event } }: { readonly delivery: WebhookDelivery }): ReactNode {
  return (
    <div className={classes.detail}>
      <div>
        <h3 className={classes.legend}>
          Attempts{attempts > log.length ? `, the newest ${log.length} of ${formatCount(attempts)}` : ''}
        </h3>
        {log.length === 0 ? (
          <p className={classes.hint}>None yet.</p>
        ) : (
          <ol className={classes.attempts}>
            {log.map(({ at, status, error, tookMs }) => (
              <li key={at}>
                <span>
                  <Time at={at} as="day" /> <Time at={at} as="clock" />
                </span>
                <strong>{status ?? 'no answer'}</strong>
                <span className={classes.sub}>after {formatCount(tookMs)} ms</span>
                {error === null || error === `answered ${status ?? ''}` ? null : <span className={classes.sub}>{error}</span>}
              </li>
            ))}
          </ol>
        )}
      </div>
      <div>
        <h3 className={classes.legend}>Data of {event.id}</h3>
        <pre className={classes.data} tabIndex={0} aria-label={`Data of ${event.id}`}>
          {JSON.stringify(event.data, null, 2)}
        </pre>
      </div>
    </div>
  );
}
