// What the shell and the overview are drawn with. All of Mantine lies in a layer of its own, so that a sheet which comes later never goes before
// the console's rules. Its variables are not here: install-theme.ts makes them. A spec finds what is missing of first, fields and late.
import './elements.css';
import '@mantine/core/styles/baseline.layer.css';
import '@mantine/core/styles/global.layer.css';
import '@mantine/core/styles/UnstyledButton.layer.css';
import '@mantine/core/styles/Loader.layer.css';
import '@mantine/core/styles/ActionIcon.layer.css';
import '@mantine/core/styles/Button.layer.css';
import '@mantine/core/styles/Kbd.layer.css';
import '@mantine/core/styles/Skeleton.layer.css';
