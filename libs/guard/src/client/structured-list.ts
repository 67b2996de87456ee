/** A bare value; byte sequences stay base64, since callers only compare them. */
export type BareValue = string | number | boolean;

export interface ListMember {
  readonly value: BareValue;
  readonly parameters: ReadonlyMap<string, BareValue>;
}

const SPACES = /[ \t]*/y;
const STRING = /"((?:[ !#-[\]-~]|\\["\\])*)"/y;
const NUMBER = /-?\d{1,15}(?!\d)(?:\.\d{1,3}(?!\d))?/y;
const TOKEN = /[A-Za-z*][\w!#$%&'*+\-.^`|~:/]*/y;
/** Base64 of whole bytes, padded or not. */
const BYTES = /:((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?):/y;
const BOOLEAN = /\?([01])/y;
const KEY = /; *([a-z*][a-z0-9_\-.*]*)/y;

/** Reads structured text from left to right. */
class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match) this.at = pattern.lastIndex;
    return match ?? undefined;
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }
}

/**
 * Members of a structured-field List (RFC 9651) of plain items. A field that breaks the rules is worth nothing as a whole, as the RFC says.
 * Of its own and not of a package: this runs in browsers, where every byte is downloaded.
 * @returns the members; empty for no field and for a malformed one
 */
export function parseList(field: string | null | undefined): readonly ListMember[] {
  const reader = new Reader((field ?? '').trim());
  const members: ListMember[] = [];
  while (!reader.isAtEnd) {
    const value = takeValue(reader);
    const parameters = value === undefined ? undefined : takeParameters(reader);
    if (value === undefined || parameters === undefined) return [];
    members.push({ value, parameters });
    reader.take(SPACES);
    if (reader.isAtEnd) break;
    if (!reader.take(/,/y)) return [];
    reader.take(SPACES);
    // A comma at the end promises a member that is not there.
    if (reader.isAtEnd) return [];
  }
  return members;
}

function takeParameters(reader: Reader): Map<string, BareValue> | undefined {
  const parameters = new Map<string, BareValue>();
  for (let key = reader.take(KEY); key; key = reader.take(KEY)) {
    const value = reader.take(/=/y) ? takeValue(reader) : true;
    if (value === undefined) return undefined;
    parameters.set(key[1] ?? '', value);
  }
  return parameters;
}

function takeValue(reader: Reader): BareValue | undefined {
  const string = reader.take(STRING);
  if (string) return (string[1] ?? '').replace(/\\(.)/g, '$1');
  const number = reader.take(NUMBER);
  if (number) return Number(number[0]);
  const bytes = reader.take(BYTES);
  if (bytes) return bytes[1];
  const boolean = reader.take(BOOLEAN);
  if (boolean) return boolean[1] === '1';
  return reader.take(TOKEN)?.[0];
}
