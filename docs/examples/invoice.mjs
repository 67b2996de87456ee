// Reads the statements of a month and prints invoice lines. Plain Node 20 or newer, no packages.
//   QUOTAPLANE_URL=http://127.0.0.1:3000 QUOTAPLANE_TOKEN=... node docs/examples/invoice.mjs 2026-10
// The token needs the right usage:read and nothing else; bound to one tenant it prints that tenant's lines.
// PRICES says what a unit above the allowance costs, by meter, in thousandths of a cent: PRICES='{"requests": 25}'

const [month] = process.argv.slice(2);
const { QUOTAPLANE_URL: base = 'http://127.0.0.1:3000', QUOTAPLANE_TOKEN: token, PRICES = '{"requests": 25}' } = process.env;
if (!/^\d{4}-\d{2}$/.test(month ?? '') || !token) {
  console.error('Usage: QUOTAPLANE_TOKEN=... node invoice.mjs YYYY-MM');
  process.exit(2);
}
const prices = new Map(Object.entries(JSON.parse(PRICES)).map(([meter, price]) => [meter, BigInt(price)]));

/**
 * Rows of the export, one by one. Where the connection breaks off it goes on behind the last row it has: every row carries its own cursor.
 * @param {number} attempts how often in a row it may break off
 */
async function* rows(attempts = 5) {
  let cursor = '';
  for (let failed = 0; ;) {
    try {
      for await (const row of read(cursor)) {
        cursor = row.cursor;
        failed = 0;
        yield row;
      }
      return;
    } catch (error) {
      failed += 1;
      if (error instanceof Refusal || failed >= attempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** failed));
    }
  }
}

/** An answer that says no: asking again would not help. */
class Refusal extends Error {}

async function* read(cursor) {
  const url = `${base}/v1/statements/export?period=${month}&format=ndjson${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
  if (!answer.ok) {
    const { code, detail } = await answer.json().catch(() => ({}));
    const message = `${answer.status} ${code ?? ''}: ${detail ?? 'no detail'}`;
    throw answer.status < 500 && answer.status !== 429 ? new Refusal(message) : new Error(message);
  }
  let rest = '';
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield JSON.parse(line);
  }
  // The last row ends with a line break, too: a rest is a row that was cut off.
  if (rest !== '') throw new Error('the answer was cut off');
}

/** Whole cents, rounded half up; BigInt, for units may pass 2^53. */
const cents = (units, price) => (units * price + 500n) / 1000n;
const money = (amount) => `${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`;

let total = 0n;
let count = 0;
for await (const { tenant, number, period, meter, totalUsed, allowance, totalBillable, adjusted, agrees } of rows()) {
  const billable = BigInt(totalBillable);
  const amount = cents(billable, prices.get(meter) ?? 0n);
  const notes = [adjusted === '0' ? '' : `${adjusted} of it after closing`, agrees ? '' : 'reconciliation differs: look at the statement'].filter(Boolean);
  console.log(`${tenant}  statement ${number}  ${period.id}  ${meter}: ${totalUsed} used of ${allowance ?? 'unlimited'}, ${billable} billable, ${money(amount)}${notes.length > 0 ? `  (${notes.join('; ')})` : ''}`);
  total += amount;
  count += 1;
}
console.log(`${count} lines, ${money(total)} in all`);
