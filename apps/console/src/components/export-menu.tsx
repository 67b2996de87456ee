import type { ReactNode } from 'react';
import { Button, Menu } from '@mantine/core';
import { IconChevronDown, IconDownload } from '@tabler/icons-react';

interface ExportMenuProps {
  /** What is exported, in words. */
  readonly of: string;
  /** Without its ending. */
  readonly fileName: string;
  readonly urlAs: (format: 'csv' | 'ndjson') => string;
}

const FORMATS = [
  ['csv', 'CSV', 'for a spreadsheet'],
  ['ndjson', 'NDJSON', 'a JSON object a line'],
] as const;

/** Streams what the page is about as a file; plain links, so that a large one never passes through this page. */
export function ExportMenu({ of, fileName, urlAs }: ExportMenuProps): ReactNode {
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} />} rightSection={<IconChevronDown size={14} />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{of}</Menu.Label>
        {FORMATS.map(([format, name, note]) => (
          <Menu.Item key={format} component="a" href={urlAs(format)} download={`${fileName}.${format}`}>
            {name}, {note}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
