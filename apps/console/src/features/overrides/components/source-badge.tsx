import type { ReactNode } from 'react';
import { Tooltip } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { IconStack2, IconTrendingUp } from '@tabler/icons-react';
import { Badge, badgeClass } from '../../../components/badge';

/** Where a number comes from: a tier version, an override or a default; a tier is a link to it. */
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
  return <Badge isMono>{source}</Badge>;
}
