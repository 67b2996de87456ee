import '@fontsource-variable/inter/wght.css';
import './styles/first';
import './app/theme/global.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from '@tanstack/react-router';
import { Providers } from './app/providers';
import { queryClient, router } from './app/router';
import { installTheme } from './app/theme/install-theme';

installTheme();

const root = document.getElementById('root');
if (root === null) throw new TypeError('The page has no element #root to draw into');
createRoot(root).render(
  <StrictMode>
    <Providers queryClient={queryClient}>
      <RouterProvider router={router} />
    </Providers>
  </StrictMode>,
);
