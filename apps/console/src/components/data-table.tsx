import { useEffect, useRef, type ReactNode } from 'react';
import { createColumnHelper, tableFeatures, useTable, type DisplayColumnDef, type ReactTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react';
import classes from './data-table.module.css';

interface ColumnMeta {
  /** Figures stand on the right so that they line up. */
  readonly isNumeric?: boolean;
  /** Name the server or the page sorts by; without it the column cannot be sorted. */
  readonly sortKey?: string;
  /** The first click on a figure shows the largest. */
  readonly firstSort?: 'up' | 'down';
  readonly width?: string;
}

const features = tableFeatures({ columnMeta: {} as ColumnMeta });
type Features = typeof features;
export type Column<T extends object> = DisplayColumnDef<Features, T>;

export const columnsOf = <T extends object>() => createColumnHelper<Features, T>();

interface DataTableProps<T extends object> {
  /** Names the table for assistive technology. */
  readonly label: string;
  readonly columns: Column<T>[];
  readonly rows: T[];
  readonly rowKey: (row: T) => string;
  /** `name` or `-name`; the page owns it. */
  readonly sort?: string;
  readonly onSort?: (sort: string) => void;
  /** Called as the end comes near. */
  readonly onEnd?: () => void;
  readonly detail?: (row: T) => ReactNode;
  readonly maxHeight?: string;
}

const ROW_HEIGHT_PX = 44;

/** A calm, dense table that keeps only the rows in view in the page, so that 100,000 stay smooth. */
export function DataTable<T extends object>({
  label,
  columns,
  rows,
  rowKey,
  sort,
  onSort,
  onEnd,
  detail,
  maxHeight = 'calc(100vh - 270px)',
}: DataTableProps<T>): ReactNode {
  const frame = useRef<HTMLDivElement>(null);
  const table = useTable<Features, T>({ features, columns, data: rows, getRowId: rowKey });
  const tableRows = table.getRowModel().rows;
  const virtual = useVirtualizer({
    count: tableRows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT_PX,
    getItemKey: (index) => tableRows[index]?.id ?? index,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  const isNearEnd = last !== undefined && last.index >= rows.length - 10;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, onEnd, rows.length]);

  return (
    // A region that scrolls must be reachable by keyboard.
    <div ref={frame} className={classes.frame} style={{ maxHeight }} tabIndex={0} role="region" aria-label={`${label}, scrollable`}>
      <table className={classes.table} aria-label={label} aria-rowcount={rows.length + 1}>
        <HeaderRow table={table} sort={sort} onSort={onSort} />
        {first === undefined || first.start === 0 ? null : <Spacer heightPx={first.start} span={columns.length} />}
        {items.map((item) => {
          const row = tableRows[item.index];
          if (row === undefined) return null;
          const extra = detail?.(row.original);
          return (
            <tbody key={item.key} ref={virtual.measureElement} data-index={item.index}>
              <tr className={classes.row} aria-rowindex={item.index + 2}>
                {row.getAllCells().map((cell) => (
                  <td key={cell.id} className={cell.column.columnDef.meta?.isNumeric ? classes.numeric : undefined}>
                    <table.FlexRender cell={cell} />
                  </td>
                ))}
              </tr>
              {extra ? (
                <tr className={classes.detail}>
                  <td colSpan={columns.length}>{extra}</td>
                </tr>
              ) : null}
            </tbody>
          );
        })}
        {last === undefined || virtual.getTotalSize() <= last.end ? null : (
          <Spacer heightPx={virtual.getTotalSize() - last.end} span={columns.length} />
        )}
      </table>
    </div>
  );
}

function Spacer({ heightPx, span }: { readonly heightPx: number; readonly span: number }): ReactNode {
  return (
    <tbody aria-hidden>
      <tr>
        <td colSpan={span} className={classes.spacer} style={{ height: heightPx }} />
      </tr>
    </tbody>
  );
}

interface HeaderRowProps<T extends object> {
  readonly table: ReactTable<Features, T>;
  readonly sort: string | undefined;
  readonly onSort: ((sort: string) => void) | undefined;
}

function HeaderRow<T extends object>({ table, sort, onSort }: HeaderRowProps<T>): ReactNode {
  return (
    <thead className={classes.head}>
      {table.getHeaderGroups().map((group) => (
        <tr key={group.id}>
          {group.headers.map((header) => {
            const { isNumeric, sortKey, width, firstSort = 'up' } = header.column.columnDef.meta ?? {};
            const title = <table.FlexRender header={header} />;
            const direction = sort === sortKey ? 'ascending' : sort === `-${sortKey}` ? 'descending' : 'none';
            const isSortable = sortKey !== undefined && onSort !== undefined;
            return (
              <th
                key={header.id}
                scope="col"
                style={width ? { width } : undefined}
                className={isNumeric ? classes.numeric : undefined}
                aria-sort={isSortable ? direction : undefined}
              >
                {isSortable ? (
                  <button
                    type="button"
                    className={classes.sort}
                    data-active={direction !== 'none' || undefined}
                    onClick={() => onSort(nextSort(sortKey, direction, firstSort))}
                  >
                    {title}
                    <SortIcon direction={direction} />
                  </button>
                ) : (
                  title
                )}
              </th>
            );
          })}
        </tr>
      ))}
    </thead>
  );
}

type Direction = 'ascending' | 'descending' | 'none';

function nextSort(sortKey: string, direction: Direction, firstSort: 'up' | 'down'): string {
  if (direction === 'none') return firstSort === 'up' ? sortKey : `-${sortKey}`;
  return direction === 'ascending' ? `-${sortKey}` : sortKey;
}

function SortIcon({ direction }: { readonly direction: Direction }): ReactNode {
  const Icon = direction === 'ascending' ? IconArrowUp : direction === 'descending' ? IconArrowDown : IconArrowsSort;
  return <Icon size={13} stroke={2} aria-hidden />;
}
