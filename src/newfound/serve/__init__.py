"""The local service: pages for people, an HTTP interface for programs.

In `newfound.serve.app`, `create_app` makes the application and `serve` starts it. It needs the
extra ``serve``: ``pip install 'newfound[serve]'``. Nothing is computed here that the library does
not offer: requests are turned into calls, and results into JSON and pages.
"""
