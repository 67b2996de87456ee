import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { IconGift, IconStack2, IconTrendingUp } from '@tabler/icons-react';
import { Badge, badgeClass } from '../../../components/badge';
import { Tooltip } from '../../../components/tooltip';

/** Where a number comes from: a tier version, an override, a top-up, the period before or a default; the first three are links. */
export function SourceBadge({ source }: { readonly source: string }): ReactNode {
  const tier = /^tier:(?<slug>[a-z0-9-]+)@(?<version>\d+)$/.exec(source)?.groups;
  if (tier?.['slug']) {
    return (
      <Tooltip label={`From version ${tier['version']} of the tier ${tier['slug']}`}>
        <Link to="/tiers/$slug" params={{ slug: tier['slug'] }} className={badgeClass('calm', true)}>
          <IconStack2 size={11} aria-hidden />
          {source}
        </Link>
      </Tooltip>
    );
  }
  if (source.startsWith('override:')) {
    return (
      <Tooltip label={`From the override ${source.slice('override:'.length)}`}>
        <a href={`#override-${source.slice('override:'.length)}`} className={badgeClass('brand', true)}>
          <IconTrendingUp size={11} aria-hidden />
          override {source.slice('override:'.length, 'override:'.length + 8)}
        </a>
      </Tooltip>
    );
  }
  const topUp = /^top-up:(?<id>.+)$/.exec(source)?.groups?.['id'];
  if (topUp !== undefined) {
    return (
      <Tooltip label={`From the top-up ${topUp}`}>
        <a href={`#top-up-${topUp}`} className={badgeClass('brand', true)}>
          <IconGift size={11} aria-hidden />
          top-up {topUp.slice(0, 8)}
        </a>
      </Tooltip>
    );
  }
  if (source.startsWith('carry:')) return <Badge title={`Left over from the period that started ${source.slice('carry:'.length)}`}>carried over</Badge>;
  return <Badge isMono>{source}</Badge>;
}
