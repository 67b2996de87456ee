import { request } from 'node:http';
import { readFileSync } from 'node:fs';
import type { ControlPlane } from './control-plane';

export interface ExportFigures {
  readonly format: string;
  readonly rows: number;
  readonly bytes: number;
  readonly seconds: number;
  /** Resident memory of the API, MiB: before, and at each quarter of the rows. */
  readonly memory: readonly number[];
}

const SAMPLE_MS = 250;

/** Takes one export of a month as fast as it comes, and looks at the API's memory meanwhile. */
export async function measureExport({ api, token }: ControlPlane, month: string, format: 'csv' | 'ndjson', columns: number): Promise<ExportFigures> {
  const before = residentMib(api.pid);
  const samples: number[] = [];
  const sampler = setInterval(() => samples.push(residentMib(api.pid)), SAMPLE_MS);
  const startedAt = performance.now();
  try {
    const { lines, bytes } = await take(`${api.url}/v1/usage/export?period=${month}&format=${format}`, token);
    const seconds = (performance.now() - startedAt) / 1000;
    const quarters = [0.25, 0.5, 0.75, 1].map((share) => Math.max(...samples.slice(Math.floor(samples.length * (share - 0.25)), Math.ceil(samples.length * share))));
    return { format, rows: lines - columns, bytes, seconds, memory: [before, ...quarters] };
  } finally {
    clearInterval(sampler);
  }
}

function take(url: string, token: string): Promise<{ readonly lines: number; readonly bytes: number }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { authorization: `Bearer ${token}` } }, (reply) => {
      if (reply.statusCode !== 200) reject(new RangeError(`${url}: ${reply.statusCode ?? 0}`));
      let [lines, bytes] = [0, 0];
      reply.on('data', (piece: Buffer) => {
        bytes += piece.length;
        for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines += 1;
      });
      reply.once('error', reject);
      reply.once('end', () => resolve({ lines, bytes }));
    });
    sent.once('error', reject);
    sent.end();
  });
}

const residentMib = (pid: number): number => Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);
