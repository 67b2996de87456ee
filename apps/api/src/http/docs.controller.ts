import { Controller, Get, Header } from '@nestjs/common';
import { openApiDocument } from '@quotaplane/contracts';
import { docsPage } from './docs-page';
import { OpenRoute } from './endpoint.decorator';

/** The contract as a document and as a page to read; both made from the routes at start. */
@Controller()
export class DocsController {
  private readonly document = openApiDocument();
  private readonly page = docsPage(this.document);

  @Get('/openapi.json')
  @OpenRoute()
  openApi(): object {
    return this.document;
  }

  @Get('/docs')
  @OpenRoute()
  @Header('Content-Type', 'text/html; charset=utf-8')
  docs(): string {
    return this.page;
  }

  @Get('/docs/docs.css')
  @OpenRoute()
  @Header('Content-Type', 'text/css; charset=utf-8')
  style(): string {
    return DOCS_STYLE;
  }
}

/** A file of its own: the page's policy allows no inline style. */
const DOCS_STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
code,pre{font-family:ui-monospace,monospace;font-size:13px}pre{overflow:auto;padding:.75rem;border:1px solid #8886;border-radius:6px}
h2{margin-top:2.5rem;border-bottom:1px solid #8886}summary{cursor:pointer;padding:.35rem 0}.verb{display:inline-block;min-width:4rem;font-weight:600}`;
