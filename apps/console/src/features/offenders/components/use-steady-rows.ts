import { useRef } from 'react';

/**
 * Keeps every row in its place while it is held, so that nothing moves under the pointer: figures go on changing,
 * newcomers join at the end, and those that left stay as they last were. Let go, the given order applies again.
 */
export function useSteadyRows<T>(rows: readonly T[], rowKey: (row: T) => string, isHeld: boolean): T[] {
  const shown = useRef<readonly T[]>(rows);
  shown.current = isHeld ? holdOrder(shown.current, rows, rowKey) : rows;
  return [...shown.current];
}

export function holdOrder<T>(shown: readonly T[], rows: readonly T[], rowKey: (row: T) => string): T[] {
  const fresh = new Map(rows.map((row) => [rowKey(row), row]));
  const held = shown.map((row) => {
    const key = rowKey(row);
    const newer = fresh.get(key) ?? row;
    fresh.delete(key);
    return newer;
  });
  return [...held, ...fresh.values()];
}
