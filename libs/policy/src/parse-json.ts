import type { z } from 'zod';

/** The border between Redis and this room: null for text that is not JSON or not of this shape. */
export function parseJson<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> | null {
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
