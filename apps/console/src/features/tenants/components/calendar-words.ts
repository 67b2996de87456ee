import type { Tenant } from '@quotaplane/contracts';

/** `day 15 in Europe/Berlin`. */
export const calendarWords = ({ timezone, anchorDay }: Pick<Tenant, 'timezone' | 'anchorDay'>): string => `day ${anchorDay} in ${timezone}`;
