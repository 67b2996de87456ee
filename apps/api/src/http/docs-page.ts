import { documentedErrors } from '@quotaplane/contracts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly 'x-access': string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: object;
  readonly responses: object;
}

/** Renders the OpenAPI document as one static page without script or outside asset, grouped by tag. */
export function docsPage(document: { readonly [member: string]: unknown }): string {
  const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({ path, verb: verb.toUpperCase(), operation })),
  );
  const groups = groupByTag(operations);
  const sections = [...groups].map(([tag, members]) => `<h2>${escapeHtml(tag)}</h2>${members.map(renderOperation).join('')}`);
  const errors = documentedErrors.map(({ code, status, title }) => `<tr><td><code>${code}</code></td><td>${status}</td><td>${escapeHtml(title)}</td></tr>`);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Quotaplane API</title><link rel="stylesheet" href="/docs/docs.css"></head><body><h1>Quotaplane API</h1>
<p>The machine-readable form is <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>${sections.join('')}
<h2>Error codes</h2><table><thead><tr><th>code</th><th>status</th><th>title</th></tr></thead><tbody>${errors.join('')}</tbody></table></body></html>`;
}

type Listed = { readonly path: string; readonly verb: string; readonly operation: Operation };

function groupByTag(operations: readonly Listed[]): Map<string, Listed[]> {
  const groups = new Map<string, Listed[]>();
  for (const listed of operations) {
    const tag = listed.operation.tags[0] ?? 'other';
    groups.set(tag, [...(groups.get(tag) ?? []), listed]);
  }
  return groups;
}

function renderOperation({ path, verb, operation }: Listed): string {
  const parameters = operation.parameters.map((parameter) => `${parameter.name} (${parameter.in}${parameter.required ? ', required' : ''})`).join(', ');
  const detail = JSON.stringify({ requestBody: operation.requestBody, responses: operation.responses }, null, 2);
  return `<details id="${escapeHtml(operation.operationId)}"><summary><span class="verb">${verb}</span> <code>${escapeHtml(path)}</code> ${escapeHtml(operation.summary)}</summary>
<p>Access: <code>${escapeHtml(operation['x-access'])}</code>${parameters ? `. Parameters: ${escapeHtml(parameters)}` : ''}</p><pre>${escapeHtml(detail)}</pre></details>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
