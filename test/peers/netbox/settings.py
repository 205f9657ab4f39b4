# NetBox's settings for the tests. All that differs between two runs comes from the environment.
import os

_redis = {"HOST": "127.0.0.1", "PORT": int(os.environ["PEER_REDIS_PORT"]), "USERNAME": "", "PASSWORD": "", "SSL": False}

ALLOWED_HOSTS = ["*"]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "netbox",
        "USER": "netbox",
        "PASSWORD": "",
        "HOST": "127.0.0.1",
        "PORT": os.environ["PEER_POSTGRES_PORT"],
        "CONN_MAX_AGE": 300,
    }
}
REDIS = {"tasks": {**_redis, "DATABASE": 0}, "caching": {**_redis, "DATABASE": 1}}

SECRET_KEY = os.environ["PEER_NETBOX_SECRET"]
API_TOKEN_PEPPERS = {1: os.environ["PEER_NETBOX_SECRET"]}

# It asks nobody outside.
CENSUS_REPORTING_ENABLED = False
RELEASE_CHECK_URL = None
ISOLATED_DEPLOYMENT = True

# NetBox's own defaults, written down because fleetd's reads rest on them.
MAX_PAGE_SIZE = 1000
PAGINATE_COUNT = 50
CHANGELOG_RETENTION = 0
TIME_ZONE = "UTC"
